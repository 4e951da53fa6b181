module github.com/stackhouse-go/stackhouse/cron

go 1.26.0

require (
	github.com/netresearch/go-cron v0.9.1
	github.com/stackhouse-go/stackhouse v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/stackhouse-go/stackhouse => ../
