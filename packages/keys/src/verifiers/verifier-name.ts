/**
 * Name of a set's verifier contract: `PaymentVerifier` for the development keys, `Autumn2026PaymentVerifier` for
 * `ceremony/autumn-2026`. Every set has its own names, so a name identifies the contract, on block explorers too.
 */
export function verifierName(circuit: "Payment" | "Withdrawal" | "NoteAppend", set: string): string {
  if (set === "development") return `${circuit}Verifier`;
  const words = set.replace(/^ceremony\//, "").split(/[-/]/);
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}${circuit}Verifier`;
}
