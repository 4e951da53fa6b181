module check.test/unmarked

go 1.26
