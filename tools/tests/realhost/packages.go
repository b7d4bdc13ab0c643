package realhost

// standardPackages are the packages of every test host's repository. A test that needs another one makes it up with
// Host.Publish.
func standardPackages() []Deb {
	prober := Deb{
		Name: "gyrum-prober",
		Files: map[string]string{
			"/usr/bin/gyrum-prober": "#!/bin/sh\nexec sleep infinity\n",
			"/lib/systemd/system/gyrum-prober.service": "[Unit]\nDescription=heartbeat of the host\n" +
				"[Service]\nExecStart=/usr/bin/gyrum-prober\n[Install]\nWantedBy=multi-user.target\n",
		},
		Scripts: map[string]string{"postinst": "getent group gyrum >/dev/null || groupadd --system gyrum"},
	}
	var all []Deb
	for _, version := range []string{"1.0-1", "1.1-1", "2.0~rc1-1", "2.0-1"} {
		prober.Version = version
		all = append(all, prober)
	}
	return append(all,
		Deb{Name: "plain", Version: "1.0"},
		Deb{Name: "base-part", Version: "1.0"},
		Deb{Name: "needs-part", Version: "1:0.5", Control: []string{"Depends: base-part"}},
		Deb{Name: "mail-one", Version: "1.0", Control: []string{"Provides: mail-system"}},
		Deb{Name: "mail-two", Version: "1.0", Control: []string{"Provides: mail-system", "Conflicts: mail-system"}},
		Deb{Name: "lib++.1", Version: "1.0"},
		Deb{
			Name: "with-conf", Version: "1.0",
			Files:     map[string]string{"/etc/with-conf.conf": "a=1\n"},
			Conffiles: []string{"/etc/with-conf.conf"},
		},
		Deb{
			Name: "with-conf", Version: "2.0",
			Files:     map[string]string{"/etc/with-conf.conf": "a=2\n"},
			Conffiles: []string{"/etc/with-conf.conf"},
		},
		Deb{
			// As Debian's own packages do: the service runs as soon as the package is there.
			Name: "eager-daemon", Version: "1.0",
			Files: map[string]string{
				"/lib/systemd/system/eager-daemon.service": "[Unit]\nDescription=starts on install\n" +
					"[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
			},
			Scripts: map[string]string{
				"postinst": "systemctl daemon-reload\nsystemctl enable -q eager-daemon.service\nsystemctl start eager-daemon.service",
				"prerm":    "systemctl stop eager-daemon.service || true",
			},
		},
		Deb{Name: "broken-postinst", Version: "1.0", Scripts: map[string]string{"postinst": "echo this package never configures >&2; exit 3"}},
	)
}
