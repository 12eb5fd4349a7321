/** A proof as snarkjs writes it, from the eight words of the wire. */
export function snarkjsProof([ax, ay, bx0, bx1, by0, by1, cx, cy]: readonly string[]) {
  return {
    pi_a: [ax!, ay!, "1"],
    pi_b: [
      [bx0!, bx1!],
      [by0!, by1!],
      ["1", "0"],
    ],
    pi_c: [cx!, cy!, "1"],
    protocol: "groth16",
    curve: "bn128",
  };
}
