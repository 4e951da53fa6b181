// Package cron has schedules fire by lines as in a crontab. It is a module of its own, so that who
// needs no calendar doesn't carry its parser:
//
//	nights, err := cron.Parse("30 2 * * 1-5", time.Local)
//	...
//	core.Schedule{Name: "report", Times: core.By(nights), Send: core.Sending(report, Report{})}
package cron
