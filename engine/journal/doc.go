// Package journal keeps the record of a host's applies: what was intended, what became of it, who confirmed it, in which
// order, chained so that a changed, dropped or reordered record shows. It also holds the lock that lets one apply run at a
// time.
//
// It knows neither plugins nor manifests, and decides nothing.
package journal
