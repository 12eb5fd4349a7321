import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { type NoteTree, prepareAppend } from "@sotto/protocol";
import type { Contract, TransactionReceipt } from "ethers";

/** Proves appends in milliseconds: it forges the proofs with the trapdoor of the development keys. */
export const forgingProver = {
  artifacts: { set: "development" },
  async prove(circuit: string, input: Readonly<Record<string, unknown>>) {
    const names = ["newRoot", "challenge", "evaluation"];
    return proveWithTrapdoor(
      circuit,
      names.map((name) => input[name] as bigint),
    );
  },
};

/** Appends the only leaf of a deposit to an empty tree. @returns the new root */
export async function appendDeposit(
  pool: Contract,
  place: { chainId: bigint; pool: string },
  tree: NoteTree,
  receipt: TransactionReceipt,
): Promise<bigint> {
  const log = receipt.logs.map((entry) => pool.interface.parseLog(entry)).find((event) => event?.name === "Deposited");
  const leaf = log!.args["commitment"] as bigint;
  const prepared = prepareAppend({ ...place, tree, leaves: [leaf] });
  const { proof } = await forgingProver.prove("note_append", prepared.input);
  await (await pool.getFunction("append")(prepared.newRoot, [leaf], proof, 1)).wait();
  return prepared.newRoot;
}
