-- Made at start, if it is not there. One row of partitions is what all writes of a partition lock.

CREATE TABLE IF NOT EXISTS partitions (
	id    integer PRIMARY KEY,
	epoch bigint  NOT NULL DEFAULT 0, -- begins with each load
	owner text    NOT NULL DEFAULT '', -- the process that loaded it last
	seq   bigint  NOT NULL DEFAULT 0  -- of the last change
);

CREATE TABLE IF NOT EXISTS items (
	partition integer NOT NULL REFERENCES partitions,
	sku       text    NOT NULL,
	stock     bigint  NOT NULL,
	held      bigint  NOT NULL,
	confirmed bigint  NOT NULL,
	PRIMARY KEY (partition, sku),
	CHECK (held >= 0 AND confirmed >= 0 AND held + confirmed <= stock)
);

CREATE TABLE IF NOT EXISTS reservations (
	partition integer NOT NULL REFERENCES partitions,
	number    bigint  NOT NULL,
	sku       text    NOT NULL,
	quantity  bigint  NOT NULL CHECK (quantity > 0),
	state     text    NOT NULL CHECK (state IN ('held', 'confirmed', 'released')),
	PRIMARY KEY (partition, number)
);

ALTER TABLE reservations ADD COLUMN IF NOT EXISTS at bigint NOT NULL DEFAULT 0; -- when it came to state; 0: not known

CREATE TABLE IF NOT EXISTS outcomes (
	partition integer NOT NULL REFERENCES partitions,
	seq       bigint  NOT NULL,
	key       text    NOT NULL,
	outcome   json    NOT NULL,
	PRIMARY KEY (partition, seq),
	UNIQUE (partition, key)
);
