package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gyrum.ai/cmd/gyrum/internal/suggest"
	"gyrum.ai/engine"
)

// usage is an error in how the program was called.
func usage(format string, args ...any) error {
	return &exit{code: engine.ExitUsage, err: fmt.Errorf(format, args...)}
}

// group is a command that only holds others.
func group(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s needs one of: %s", cmd.CommandPath(), strings.Join(commandNames(cmd), ", "))
		}
		return unknownCommand(cmd, args)
	}
	cmd.RunE = func(*cobra.Command, []string) error { return nil }
	cmd.AddCommand(members...)
	return cmd
}

// noArgs refuses arguments of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, and %q is one", cmd.CommandPath(), args[0])
	}
	return nil
}

// unknownCommand refuses the first argument, which names no command beneath this one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandNames(cmd)
	instead := didYouMean(args[0], names, "")
	if instead == "" && cmd.HasParent() && len(names) > 0 { // the program's own are too many to list
		instead = "; it has " + strings.Join(names, ", ")
	}
	return usage("%s has no command %q%s", cmd.CommandPath(), args[0], instead)
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// orOneOf is didYouMean, and names all candidates where none is near.
func orOneOf(name string, candidates []string) string {
	if near := didYouMean(name, candidates, ""); near != "" || len(candidates) == 0 {
		return near
	}
	return "; there are " + strings.Join(candidates, ", ")
}

// didYouMean words the nearest candidate; prefix stands before it.
func didYouMean(name string, candidates []string, prefix string) string {
	if n := suggest.Nearest(name, candidates); n != "" {
		return "; did you mean " + prefix + n + "?"
	}
	return ""
}

// flagError words what was wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	var novalue *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return usage("%s has no flag -%s", cmd.CommandPath(), name)
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		return usage("%s has no flag --%s%s", cmd.CommandPath(), name, didYouMean(name, known, "--"))
	case errors.As(err, &novalue):
		return usage("--%s needs a value", novalue.GetFlag().Name)
	case errors.As(err, &invalid):
		value := invalid.GetValue()
		if value == "" {
			value = `""`
		}
		instead := invalid.Unwrap().Error()
		switch invalid.GetFlag().Value.Type() {
		case "int":
			instead = "write a whole number"
		case "bool":
			instead = "write true or false, or the flag alone"
		}
		return usage("--%s %s: %s", invalid.GetFlag().Name, value, instead)
	}
	return &exit{code: engine.ExitUsage, err: err}
}

// refuseEmpty refuses a flag whose value is empty and an argument that is: a script's variable that was never set, most
// often. What is left out stands for the default; what is empty would stand for it by accident.
func refuseEmpty(cmd *cobra.Command, args []string) error {
	if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
		return nil // a shell asks what may stand in the empty place
	}
	var empty *pflag.Flag
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if empty == nil && slices.Contains(values, "") {
			empty = f
		}
	})
	if empty != nil {
		what, _ := pflag.UnquoteUsage(empty)
		return usage(`--%s "": the value is empty; write a %s, or leave the flag out`, empty.Name, what)
	}
	if at := slices.Index(args, ""); at >= 0 {
		return usage(`%s: argument %d is ""; write a name there, or leave it out`, cmd.CommandPath(), at+1)
	}
	return nil
}

// newHelpCmd takes the place of cobra's own, to which a command that does not exist is no mistake.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Show how a command is called",
		Long:              "help shows of a command what its --help does.",
		Example:           "  gyrum help apply\n  gyrum help plugin inspect",
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest := command(cmd.Root(), args)
			if len(rest) > 0 {
				return unknownCommand(found, rest)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// command follows names of commands as far as they lead; rest is what names none.
func command(cmd *cobra.Command, names []string) (found *cobra.Command, rest []string) {
	for i, name := range names {
		at := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
		if at < 0 {
			return cmd, names[i:]
		}
		cmd = cmd.Commands()[at]
	}
	return cmd, nil
}

func completeCommands(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	found, rest := command(cmd.Root(), args)
	if len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name()+"\t"+c.Short)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// addCompletion adds cobra's command for shells, and lets it refuse what it does not know as all others do.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _ := command(root, []string{"completion"})
	group(cmd)
	for _, shell := range cmd.Commands() {
		shell.Args = noArgs
	}
}
