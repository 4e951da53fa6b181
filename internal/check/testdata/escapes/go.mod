module check.test/escapes

go 1.26
