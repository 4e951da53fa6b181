-- A change of one partition, in one statement and so as a whole. Everything hangs on own: if the epoch has passed it
-- has no row, and nothing is written. The row stays locked until the commit, and Load updates it first.
WITH own AS (
	UPDATE partitions SET seq = $3 WHERE id = $1 AND epoch = $2 RETURNING id
), item AS (
	INSERT INTO items (partition, sku, stock, held, confirmed)
	SELECT own.id, i.* FROM own, unnest($4::text[], $5::bigint[], $6::bigint[], $7::bigint[]) AS i
	ON CONFLICT (partition, sku) DO UPDATE
	SET stock = excluded.stock, held = excluded.held, confirmed = excluded.confirmed
), reservation AS (
	INSERT INTO reservations (partition, number, sku, quantity, state, at)
	SELECT own.id, r.* FROM own, unnest($8::bigint[], $9::text[], $10::bigint[], $11::text[], $12::bigint[]) AS r
	ON CONFLICT (partition, number) DO UPDATE SET state = excluded.state, at = excluded.at
), outcome AS (
	INSERT INTO outcomes (partition, seq, key, outcome)
	SELECT own.id, o.* FROM own, unnest($13::bigint[], $14::text[], $15::json[]) AS o
), forgotten AS (
	DELETE FROM reservations USING own WHERE partition = own.id AND number = ANY ($16::bigint[])
), past AS (
	DELETE FROM outcomes USING own WHERE partition = own.id AND seq <= $17
)
SELECT count(*) FROM own
