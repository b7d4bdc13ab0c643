-- The application's role and database. Harmless to run again.
SELECT 'CREATE ROLE app LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'app') \gexec
\set password `cat /etc/db/app.password`
ALTER ROLE app PASSWORD :'password' CONNECTION LIMIT 40;
SELECT 'CREATE DATABASE app OWNER app' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'app') \gexec
REVOKE ALL ON DATABASE app FROM PUBLIC;
