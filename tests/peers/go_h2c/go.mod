module peers

go 1.24
