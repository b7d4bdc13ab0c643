// Package reference writes what a command line says of itself as Markdown and as man pages. It knows cobra's commands
// and no command of gyrum's.
package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands lists a command and all below it that people call, each before its own.
func Commands(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			out = append(out, Commands(c)...)
		}
	}
	return out
}

// Name is a command's words joined as file names have them: gyrum-plugin-list.
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Markdown writes one command's section; headings are of the given level.
func Markdown(cmd *cobra.Command, level int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s.\n", strings.Repeat("#", level), cmd.CommandPath(), strings.TrimSuffix(cmd.Short, "."))
	if cmd.Runnable() && !cmd.HasSubCommands() {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", cmd.UseLine())
	}
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n```text\n%s\n```\n", strings.TrimRight(cmd.Long, "\n"))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n```\n%s\n```\n", unindent(cmd.Example))
	}
	flags := cmd.NonInheritedFlags()
	if !cmd.HasParent() {
		flags = cmd.PersistentFlags()
	}
	var rows []string
	for _, f := range visible(flags) {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", flagName(f), strings.ReplaceAll(usage(f), "|", `\|`)))
	}
	if len(rows) > 0 {
		head := "flag"
		if !cmd.HasParent() {
			head = "flag of every command"
		}
		fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n%s\n", head, strings.Join(rows, "\n"))
	}
	return b.String()
}

// visible lists the flags that people are told of, but for help.
func visible(fs *pflag.FlagSet) []*pflag.Flag {
	var out []*pflag.Flag
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			out = append(out, f)
		}
	})
	slices.SortFunc(out, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// flagName is a flag as it is written, with its value's name.
func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value, _ := pflag.UnquoteUsage(f); value != "" {
		name += " " + value
	}
	return name
}

// usage is what a flag does, with its default where that says something.
func usage(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "0", "[]":
	default:
		text += " (default " + f.DefValue + ")"
	}
	return text
}

// unindent takes two spaces off each line.
func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}
