/**
 * Name of a set's verifier contract: `PaymentVerifier` of the development keys, `Autumn2026PaymentVerifier` of
 * `ceremony/autumn-2026`. No two sets share a name, so each contract is known by its name alone, on explorers too.
 */
export function verifierName(circuit: "Payment" | "Withdrawal" | "NoteAppend", set: string): string {
  if (set === "development") return `${circuit}Verifier`;
  const words = set.replace(/^ceremony\//, "").split(/[-/]/);
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}${circuit}Verifier`;
}
