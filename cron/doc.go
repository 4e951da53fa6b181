// Package cron makes schedules of core fire by lines as in a crontab. It is a module of its own, so
// that only programs that need it carry the parser:
//
//	nights, err := cron.Parse("30 2 * * 1-5", time.Local)
//	...
//	core.Schedule{Name: "report", Times: core.By(nights), Send: core.Sending(report, Report{})}
package cron
