pragma circom 2.2.0;

// Checks that 1 <= count <= n, and that values[i] = 0 for every i >= count.
template Prefix(n) {
    // Number of values. Constrained by [C:prefix.one_flag].
    signal input count;
    // Field elements, then zeros. Constrained by [C:prefix.zero_behind].
    signal input values[n];

    // 1 if i is the last value that counts, otherwise 0. Constrained by the next two groups.
    signal isLast[n];
    var flags = 0;
    for (var i = 0; i < n; i++) {
        isLast[i] <-- count == i + 1 ? 1 : 0;
        // [C:prefix.flag] The flag of i is 0 unless i is the last value that counts.
        isLast[i] * (count - i - 1) === 0;

        flags += isLast[i];
    }
    // [C:prefix.one_flag] One flag is 1, so count is between 1 and n.
    flags === 1;

    var ended = 0;
    for (var i = 1; i < n; i++) {
        ended += isLast[i - 1];
        // [C:prefix.zero_behind] The values after the counted ones are 0, so nothing is inserted without being counted.
        ended * values[i] === 0;
    }
}
