package measure

// Degree is how many children a branch of a skynet tree has.
const Degree = 10

// treeMax is the leaves of the largest tree.
const treeMax = 100_000

// Trees says how n leaves grow: in so many trees of so many leaves, a power of
// Degree.
func Trees(n int) (trees, leaves int) {
	leaves = Degree
	for leaves < treeMax && leaves*Degree <= n {
		leaves *= Degree
	}
	return max(1, n/leaves), leaves
}

// LeafSum returns the sum of the numbers of the leaves of a tree, from 0.
func LeafSum(leaves int) uint64 { return Sum(leaves - 1) }
