package read

import "gyrum.ai/plugins/guest"

// Unit is what the service manager says of a unit, in its own words (systemctl(1), org.freedesktop.systemd1(5)).
type Unit struct{ guest.Value }

// LoadState is loaded, not-found, masked, bad-setting, error, merged or stub.
func (u Unit) LoadState() string { return u.GetText("load_state") }

// ActiveState is active, reloading, refreshing, inactive, failed, activating, deactivating or maintenance.
func (u Unit) ActiveState() string { return u.GetText("active_state") }

// SubState is the unit type's own word.
func (u Unit) SubState() string { return u.GetText("sub_state") }

// FileState is GetUnitFileState's word, "" when there is no unit file.
func (u Unit) FileState() string { return u.GetText("unit_file_state") }

// AliasOf and AliasState are the unit that an alias names and its FileState; set when FileState is alias.
func (u Unit) AliasOf() string { return u.GetText("alias_of") }

// AliasState is described with AliasOf.
func (u Unit) AliasState() string { return u.GetText("alias_state") }

// NeedsReload says that the manager works from an older version of the unit's files.
func (u Unit) NeedsReload() bool { return u.Get("need_daemon_reload").True() }

// ServiceType is a service's Type=.
func (u Unit) ServiceType() string { return u.GetText("service_type") }

// RemainAfterExit is the service's setting.
func (u Unit) RemainAfterExit() bool { return u.Get("remain_after_exit").True() }

// Result says how the unit last ended, success when well.
func (u Unit) Result() string { return u.GetText("result") }

// CannotStart says that the unit cannot be started by hand.
func (u Unit) CannotStart() bool { return u.Has("can_start") && !u.Get("can_start").True() }

// FilePresent says that the unit's file exists: the declared one, else the manager's.
func (u Unit) FilePresent() bool { return u.Get("unit_file_present").True() }

// Fragment is the path of the file that the manager loaded the unit from, a mask included.
func (u Unit) Fragment() string { return u.GetText("fragment") }

// TriggeredBy are the active units that may start this one.
func (u Unit) TriggeredBy() []string { return u.Get("triggered_by").Texts() }

// Inputs are the paths and resource ids that the unit runs from.
func (u Unit) Inputs() []string { return u.Get("inputs").Texts() }

// Freshness is fresh, stale, unknown or not-running.
func (u Unit) Freshness() string { return u.GetText("freshness") }

// StaleInputs are the inputs that changed after the unit was started.
func (u Unit) StaleInputs() []string { return u.Get("stale_inputs").Texts() }

// FreshnessText says why the freshness is what it is.
func (u Unit) FreshnessText() string { return u.GetText("freshness_text") }
