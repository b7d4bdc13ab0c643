package manifest

// Rule is what a finding breaks, for `gyrum explain` and for reports that list their rules.
type Rule struct {
	ID string
	// Title is the rule in a few words, Doc in a paragraph with what to do.
	Title string
	Doc   string
}

// Rules lists every rule that a finding can name.
func Rules() []Rule {
	return []Rule{
		{"R1", "a host names only roles that exist", "Every name in a host's roles and in the catalog's defaults has a manifest host-roles/<name>.yaml."},
		{"R2", "the list of roles is closed", "Where catalog.yaml has roles, it names every manifest in host-roles/, and every name in it has one."},
		{"R3", "files are named as what they declare", "host-roles/<role>.yaml declares that role, hosts/<name>.yaml that host, and both end in .yaml."},
		{"R4", "what a role requires is on the host", "Every role in requires exists, and every host that carries the role carries it too. The base role host requires nothing."},
		{"R5", "roles that exclude each other are not together", "Every role in mutually_exclusive exists, and no host carries both, whichever of the two says so."},
		{"R6", "requires has no cycle", "Roles are applied in the order of requires; roles that require each other have none. The message prints the cycle."},
		{"R7", "everything has one owner on a host", "Ids are unique on a host, and no two resources own one path (after cleaning //, /./ and a trailing /), package or unit. A line lies in a file that no other resource owns, and two lines of one file neither read the same nor meet each other's match. gyrum's own state and cache folders belong to no manifest."},
		{"R8", "unit_file is declared or packaged", "A unit_file is a file resource of the same role or of a role it requires, or lies in /lib/systemd/system or /usr/lib/systemd/system with a package resource before it."},
		{"R9", "restart_on names resources of the host", "Every id in restart_on is a file, env, directory, package, symlink or line resource of a role that the host carries."},
		{"R10", "a source lies in the role's files", "source names a regular file of at most 1 MiB inside host-roles/<role>/files/, without . or .. elements and without a link that leads out."},
		{"R11", "no secrets in manifests", `A variable whose name means a secret (PASSWORD, TOKEN, API_KEY and their like, but not PASSWORD_FILE or TOKEN_TTL), and any text in the shape of one (private keys, cloud and forge tokens, addresses with a password), is refused. Write {secret_ref: "provider:name"} with file:/absolute/path, credential:NAME, age:path/in/catalog or exec:NAME; the value is fetched on the host.`},
		{"R12", "YAML that all readers read alike", "One UTF-8 document a file, without byte order mark, duplicate keys, keys that are no strings, anchors, aliases, merge keys, tags, directives, or tabs in the indentation."},
		{"R13", "activate and deactivate name roles", "Both name roles that exist, and never the base role host."},
		{RuleRead, "a manifest can be read", "Whatever ends in .yaml in hosts/ and host-roles/ is a regular file, or a link to one inside the catalog, that whoever runs gyrum may read. A folder, a named pipe, a link that leads to nothing or out of the catalog is none; delete it, or put the file there. Where the permission is missing, ls -l shows the mode of the file and of the folders above it. Nothing is known of what the file declares, so nothing is said of what others expect in it."},
		{RuleSyntax, "the file is YAML", "The file is YAML, holds at most 8 MiB and nests at most 50 levels deep."},
		{RuleUnknown, "no unknown fields", "Every field is one that the definitions have; a field that is not is most often a typing error."},
		{RuleMissing, "required fields are there", "A field that must be given is given."},
		{RuleType, "values have their kind", "A string is a string, a boolean true or false, a list a list. Numbers and booleans that are meant as text are put in quotes; yes, no, on and off are strings in YAML 1.2."},
		{RuleValue, "values are allowed ones", "The value is one that the field may have."},
		{RuleFields, "fields go together", "Some fields exclude or need each other, such as content and source, or a version and state: absent."},
		{RuleLock, "plugins are those that were locked", "gyrum.lock names for each resource type the modules that the catalog accepts and what they may ask and do. A plugin with another digest, or one that wants a capability more, is not used. gyrum plugin inspect TYPE shows what a plugin can reach; gyrum lock accepts it."},
		{RuleOwnType, "a catalog's own types are whole", "plugins/x_<type>/ holds plugin.cue and type.cue, what is exported of them (plugin.json and type.json), observe.wasm and apply.wasm. Its decision record in docs/adr/ is accepted and names the type, and gyrum.lock pins the modules; where the lock has keys, the modules are signed."},
	}
}
