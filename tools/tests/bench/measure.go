package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// job is one command to measure.
type job struct {
	Name string `json:"name"`
	// Prepare is a shell command that runs before each run and is not measured; none where empty.
	Prepare string   `json:"prepare"`
	Command []string `json:"command"`
	// Exit is the status that the command must end with.
	Exit int `json:"exit"`
}

// jobs is what the part within the host reads.
type jobs struct {
	Rounds int   `json:"rounds"`
	Jobs   []job `json:"jobs"`
}

// figure is what became of a job: medians over its runs.
type figure struct {
	Name string `json:"name"`
	// Wall is from before the fork to the end of the process.
	Wall time.Duration `json:"wall"`
	// Peak is the largest resident set of the process or of a child that it waited for, in bytes.
	Peak int64 `json:"peak"`
	// Computing is the processor time of both, in user and system mode.
	Computing time.Duration `json:"computing"`
	// WallTimes and ComputingTimes compare with the first job round by round: what is run one right after the other is disturbed
	// alike by whatever else the machine does.
	WallTimes      float64 `json:"wall_times"`
	ComputingTimes float64 `json:"computing_times"`
}

// measure runs the jobs in turn, round by round, so that what disturbs the machine disturbs all of them.
func measure(in io.Reader, out io.Writer) error {
	var j jobs
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return err
	}
	runs := make([][]figure, len(j.Jobs))
	for range j.Rounds {
		for i, job := range j.Jobs {
			f, err := one(job)
			if err != nil {
				return err
			}
			first := f
			if i > 0 {
				first = runs[0][len(runs[0])-1]
			}
			f.WallTimes = float64(f.Wall) / float64(first.Wall)
			f.ComputingTimes = float64(f.Computing) / float64(first.Computing)
			runs[i] = append(runs[i], f)
		}
	}
	var figures []figure
	for i, job := range j.Jobs {
		figures = append(figures, figure{
			Name:           job.Name,
			Wall:           median(runs[i], func(f figure) time.Duration { return f.Wall }),
			Peak:           median(runs[i], func(f figure) int64 { return f.Peak }),
			Computing:      median(runs[i], func(f figure) time.Duration { return f.Computing }),
			WallTimes:      median(runs[i], func(f figure) float64 { return f.WallTimes }),
			ComputingTimes: median(runs[i], func(f figure) float64 { return f.ComputingTimes }),
		})
	}
	return json.NewEncoder(out).Encode(figures)
}

func one(j job) (figure, error) {
	if j.Prepare != "" {
		if out, err := exec.Command("sh", "-ec", j.Prepare).CombinedOutput(); err != nil {
			return figure{}, fmt.Errorf("%s: prepare: %w\n%s", j.Name, err, out)
		}
	}
	cmd := exec.Command(j.Command[0], j.Command[1:]...)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(begun)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != j.Exit {
		return figure{}, fmt.Errorf("%s: %v, want exit status %d\n%s", j.Name, err, j.Exit, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	computing := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return figure{Wall: wall, Peak: usage.Maxrss << 10, Computing: computing}, nil // getrusage(2): the peak in kilobytes
}

func median[N cmp.Ordered](runs []figure, of func(figure) N) N {
	values := make([]N, len(runs))
	for i, f := range runs {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
