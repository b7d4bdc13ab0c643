package drift

// Word is a stable word of reports with what it means, for `gyrum explain` and the reference pages.
type Word struct {
	Name string
	// Title is the meaning in a few words, Doc in a sentence or two with what to do about it.
	Title string
	Doc   string
}

// Reasons lists every code that an item's reason can have, those of all types first, then by type. Codes are stable:
// one that is out keeps its meaning.
func Reasons() []Word {
	return []Word{
		{"unobservable", "the state could not be seen", "Nothing counts as absent because it could not be seen. The text says what stood in the way: a permission (run as root), a systemd that does not answer, a damaged package database. Nothing is done about the resource until it can be seen."},
		{"plugin-failed", "the type's plugin gave no usable answer", "The sandboxed module broke off, exceeded a limit or answered nonsense. Other resources are not touched by it. gyrum plugin verify checks the modules; a newer version may have the fix."},
		{"one-path", "two resources own one path on this host", "Written differently, both paths lead to the same place through a symbolic link of the host. Declare the path once, by the name without the link."},

		{"missing", "what is declared does not exist", "A file, a directory or whatever else the type stands for is not there; it is made."},
		{"present", "what is declared absent exists", "It is removed. Of a symbolic link only the link goes, never its target; of directories only empty ones do."},
		{"kind-differs", "something of another kind is at the path", "A symbolic link where a file belongs is replaced and its target left alone. Anything else of another kind is blocked, since gyrum removes no tree and no device: look at it and move it away."},
		{"content-differs", "the content is not the declared one", "The file is replaced as a whole. check --diff shows the lines; of an environment file the text names the variables."},
		{"damaged", "systemd would not read the environment file", "A NUL byte, a byte order mark or bytes that are no UTF-8 keep systemd from reading it as it is. It is written anew."},
		{"mode-differs", "the permission bits differ", "Only the mode is changed; the content keeps its place on disk."},
		{"owner-differs", "the owner or the group differs", "Owner and group are changed, and the mode with them where it differs too."},
		{"not-empty", "a directory that is declared absent is not empty", "gyrum removes no tree. Declare what is in it absent as well, or empty it by hand."},
		{"secret-unresolved", "a secret could not be fetched", "The reference is named, never a value. Put the secret where the reference points, with the owner and mode that its provider asks for."},

		{"not-installed", "the package is not installed", "It is installed, in the declared version where one is given. A package of which only configuration files are left counts as not installed."},
		{"installed", "the package is installed and declared absent", "It is removed, not purged: its configuration files stay."},
		{"version-differs", "another version is installed", "The declared exact version is installed, also where that is a downgrade."},
		{"half-installed", "dpkg left the package half way", "It is neither installed nor absent. The declared state is brought about anew; dpkg --audit shows what happened."},
		{"held", "the package is on hold", "A held package is not changed. apt-mark unhold lifts the hold, if the package is to change."},
		{"virtual-package", "the name stands for other packages", "Nothing has this name by itself. Declare one of the packages that provide it."},
		{"virtual", "apt takes the name for a virtual one", "Nothing that could be installed has this name. Declare one of the packages that provide it."},
		{"would-remove", "other packages would be removed along", "A change that takes other packages with it is blocked. Declare those absent as well, or keep this one."},
		{"broken", "apt finds no way to do it", "The text is apt's own: most often a dependency that is not available. Declare the repository or the version that has it."},

		{"not-running", "the unit is declared started and does not run", "It is started, and must stay up."},
		{"running", "the unit is declared stopped and runs", "It is stopped. A timer or socket that would start it again is named in the note; declare that stopped too."},
		{"failed-state", "the unit has failed", "It is started anew. systemctl status and the journal say why it failed."},
		{"crash-loop", "the unit ends and is restarted over and over", "Such a unit does not count as running. It is started anew and has to stay up; the unit's journal says why it ends."},
		{"not-enabled", "the unit is not started at boot", "It is enabled."},
		{"not-persistent", "the unit is enabled until the next boot only", "It is enabled for good; enabled-runtime is gone after a reboot."},
		{"enabled", "the unit is declared disabled and is started at boot", "It is disabled."},
		{"stale", "the unit runs from inputs that have changed", "A unit file, drop-in, environment file or something in restart_on changed after the unit was started. It is restarted."},
		{"input-changes", "this plan changes what the unit runs from", "The unit is in sync now and is restarted once its input has been changed, so that one approval is enough. Where that proves unnecessary, it is skipped."},
		{"package-may-start", "a package in this plan may bring the unit up", "Debian packages start their services when they are installed. The unit is stopped or disabled afterwards; where it is not needed, it is skipped."},
		{"reload-needed", "systemd works from older unit files", "A daemon-reload is due; nothing is restarted for it alone."},
		{"freshness-unknown", "nobody can tell whether the unit runs from its files as they are", "The times on disk leave it open. A restart by hand settles it, and so does an apply as root, which records what the unit was started from."},
		{"not-found", "systemd knows no such unit", "Declare the package or the unit file that brings it, before the unit."},
		{"unit-file-missing", "the declared unit_file does not exist", "Declare the file, or the package that brings it, before the unit."},
		{"masked", "the unit is masked", "gyrum unmasks nothing, since somebody meant it. systemctl unmask lifts it, if the unit is wanted."},
		{"bad-unit", "systemd cannot read the unit's file", "systemctl status and systemd-analyze verify name the line."},
		{"template", "the name is a template", "A template cannot run or be enabled by itself. Name an instance, such as name@instance.service."},
		{"cannot-start", "the unit refuses to be started by hand", "It has RefuseManualStart=. Declare what starts it instead."},
		{"cannot-stay-started", "the unit ends when its work is done", "A oneshot service without RemainAfterExit=yes never stays started. Set that, declare its timer, or use a command."},
		{"cannot-enable", "the unit cannot be enabled", "The text says why: no [Install] section, generated, transient, or known by another unit's name. Leave enabled out, or declare the unit that is named."},

		{"target-differs", "the symbolic link points elsewhere", "It is replaced by one that points to the declared target; what stands at either target is left alone."},
		{"account-differs", "the account is not as declared", "The text names each field that differs; all of them are changed in one step. The password and the home folder's content are never touched."},
		{"gid-differs", "the group has another number", "The text names both. What belongs to the old number is not changed with it."},
		{"line-differs", "the managed line reads otherwise", "The line that match meets is replaced in its place; the rest of the file stays as others wrote it."},
		{"ambiguous", "several lines are meant", "line and match meet more than one line of the file, and gyrum does not guess which. Write a match that meets one of them."},
		{"no-place", "the place for the line is not one", "after or before meets no line, or several. Write an expression that meets exactly one."},
		{"too-large", "the file is too large to manage a line in", "Files above 4 MiB are no place for a managed line; declare the file whole, or have its owner include another one."},

		{"not-run", "the path in creates does not exist", "The command is run, and the path must exist afterwards."},
		{"not-idempotent", "the command is run by every apply", "It is declared idempotent: false. That is a warning on every run and no drift. Why it has to be so stands behind it: the sentence in the role's description that names the command."},
	}
}

// VerbWords lists the verbs with what each does, in the order of the schema.
func VerbWords() []Word {
	return []Word{
		{"install", "install a package", "apt installs the package and what it needs; params has the version. It never removes anything else."},
		{"upgrade", "change a package's version", "params has from, to and whether it is a downgrade."},
		{"remove", "remove a package, a file, a symbolic link or an empty directory", "A package is removed, not purged. Of a symbolic link only the link goes."},
		{"write", "make or replace a file or directory", "A file is written beside its place, brought to disk and renamed over it, so that readers see the old one or the new one. params has what will differ."},
		{"chmod", "change permission bits", "Nothing else of the file or directory changes."},
		{"chown", "change owner and group", "params carries the mode too, since a change of owner clears set-id bits."},
		{"start", "start a unit", "With restart: true in params it is restarted, with enable it is also enabled or disabled, with daemon_reload systemd reads its files anew first."},
		{"stop", "stop a unit", "With enable in params it is also enabled or disabled."},
		{"enable", "have a unit started at boot", "Its run state is left as it is."},
		{"disable", "keep a unit from being started at boot", "Its run state is left as it is."},
		{"run", "run a command", "params has the command, its folder, variables and time limit. Exit status and the ends of both outputs are recorded."},
		{"noop", "do nothing", "There is something to know and nothing that could be executed; the reason says what."},
	}
}

// SeverityWords lists the severities of items.
func SeverityWords() []Word {
	return []Word{
		{string(SeverityDrift), "a difference that the action closes", "A check with such an item ends with exit code 2, unless there is an error too."},
		{string(SeverityWarn), "something to know that is no difference", "It does not count in the exit code. Where it has an action, an apply executes it."},
		{string(SeverityError), "something that could not be seen, or whose action will not be executed", "Exit code 1. An apply leaves the resource alone and holds back what comes after it in its role, and the roles that require that role; blocked or the reason says what to settle."},
	}
}

// StatusWords lists what can become of an item in an apply.
func StatusWords() []Word {
	return []Word{
		{string(Applied), "the action was executed", "What it changed stands under effects. The resource was observed again afterwards: show of the run says what is still not as declared."},
		{string(Failed), "the action was executed and did not succeed", "The error stands with it, of a command the ends of both outputs too. The rest of its role, and the roles that require that, were held back. Settle the cause and apply again; what was done is not done twice."},
		{string(Blocked), "the action was not begun, because something stood in its way", "What that is stands with it: a need that nothing meets, or another hand that changed the resource after the plan was made. The rest of its role, and the roles that require that, were held back. Check again."},
		{string(Skipped), "the action was not begun, and nothing is wrong with it", "Something before it failed or was blocked, the run was told to stop, or the action had become unnecessary; the text says which. The next apply takes it up."},
	}
}
