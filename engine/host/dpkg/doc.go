// Package dpkg asks dpkg and apt about packages and has apt change them. The database is read by one dpkg-query a run;
// what apt would do is asked of its own simulation, with everything switched off that it would otherwise write.
//
// It knows no resources and takes no decisions beyond this: apt changes the package that was named and what it needs,
// and removes nothing else.
package dpkg
