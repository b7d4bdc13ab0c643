package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Man writes one command's page for section 1 in the language of man(7). It holds no date, so that the same program
// always gives the same page.
func Man(cmd *cobra.Command, version string) string {
	var b strings.Builder
	name := Name(cmd)
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"gyrum manual\"\n", strings.ToUpper(name), "gyrum "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.CommandPath()))
	if rest := strings.TrimPrefix(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()), " "); rest != "" {
		fmt.Fprintf(&b, "%s\n", roff(rest))
	}
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		paragraphs(&b, cmd.Long)
	}
	options := func(title string, flags []string) {
		if len(flags) > 0 {
			fmt.Fprintf(&b, ".SH %s\n%s", title, strings.Join(flags, ""))
		}
	}
	var own, common []string
	for _, f := range visible(cmd.NonInheritedFlags()) {
		own = append(own, fmt.Sprintf(".TP\n.B %s\n%s\n", roff(flagName(f)), roff(usage(f))))
	}
	for _, f := range visible(cmd.InheritedFlags()) {
		common = append(common, fmt.Sprintf(".TP\n.B %s\n%s\n", roff(flagName(f)), roff(usage(f))))
	}
	options("OPTIONS", own)
	options("OPTIONS OF EVERY COMMAND", common)
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", lines(unindent(cmd.Example)))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, Name(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			also = append(also, Name(c))
		}
	}
	for i, a := range also {
		also[i] = fmt.Sprintf(".BR %s (1)", roff(a))
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	}
	return b.String()
}

// paragraphs writes prose; a paragraph with indented lines is a table and keeps its lines.
func paragraphs(b *strings.Builder, text string) {
	for i, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, "  ") || strings.Contains(p, "\n  ") {
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", lines(p))
			continue
		}
		b.WriteString(lines(p) + "\n")
	}
}

func lines(text string) string {
	out := strings.Split(text, "\n")
	for i, l := range out {
		out[i] = roff(l)
	}
	return strings.Join(out, "\n")
}

// roff keeps a line from being read as anything but text (groff_char(7)).
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
