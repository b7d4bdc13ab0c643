package guest

// Join puts two texts together with a separator, which an empty text needs none of.
func Join(a, separator, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}

// Words puts texts together with commas.
func Words(texts []string) string {
	var all string
	for _, t := range texts {
		all = Join(all, ", ", t)
	}
	return all
}
