pragma circom 2.2.0;

// 1 <= count <= n, and values[i] = 0 for every i >= count.
template Prefix(n) {
    signal input count;
    signal input values[n];

    signal isLast[n];
    var flags = 0;
    for (var i = 0; i < n; i++) {
        isLast[i] <-- count == i + 1 ? 1 : 0;
        // [C:prefix.flag] the flag of i is 0 unless i is the last that counts.
        isLast[i] * (count - i - 1) === 0;

        flags += isLast[i];
    }
    // [C:prefix.one_flag] one flag is 1, so count is one of 1 to n.
    flags === 1;

    var ended = 0;
    for (var i = 1; i < n; i++) {
        ended += isLast[i - 1];
        // [C:prefix.zero_behind] behind the counted values there are zeros: nothing is inserted uncounted.
        ended * values[i] === 0;
    }
}
