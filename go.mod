module github.com/stackhouse-go/stackhouse

go 1.26.0

require (
	github.com/klauspost/compress v1.20.4
	github.com/stretchr/testify v1.12.1
	github.com/valyala/bytebufferpool v1.0.0
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.49.0
	google.golang.org/protobuf v1.36.12
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
