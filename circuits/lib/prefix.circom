pragma circom 2.2.0;

// 1 <= count <= n, and values[i] = 0 for every i >= count.
template Prefix(n) {
    signal input count;
    signal input values[n];

    signal isCount[n + 1];
    isCount[0] <== 0;
    var sum = 0;
    for (var k = 1; k <= n; k++) {
        isCount[k] <-- count == k ? 1 : 0;
        // [C:prefix.is_count] the flag of k is 0 unless count is k.
        isCount[k] * (count - k) === 0;
        sum += isCount[k];
    }
    // [C:prefix.one_flag] so exactly the flag of count is 1, and count is one of 1 to n.
    sum === 1;

    var ended = 0;
    for (var i = 1; i < n; i++) {
        ended += isCount[i];
        // [C:prefix.zero_after] once count values have passed, the others are 0: nothing is inserted uncounted.
        ended * values[i] === 0;
    }
}
