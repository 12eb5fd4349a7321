import type { SottoError } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { World } from "./world.ts";

export type UntouchedWorld = Awaited<ReturnType<typeof openUntouched>>;

/** A wallet with one note, and a check that a rejected call did not change it. */
export async function openUntouched() {
  const world = new World();
  const store = new MemoryStore();
  const wallet = await world.funded([50_000n], { store });
  const records = async () => JSON.stringify(await store.list(""));
  const before = await records();
  world.prover.asked.length = 0;
  /** Expects that the call is rejected with this code before it writes, proves or spends anything. */
  const refuses = async (code: string, action: () => Promise<unknown>): Promise<SottoError> => {
    const error = await rejection<SottoError>(action());
    expect(error.code, error.message).to.equal(code);
    expect(error.message.length).to.be.greaterThan(15);
    expect(await records()).to.equal(before);
    expect(world.prover.asked).to.deep.equal([]);
    return error;
  };
  return { world, store, wallet, refuses };
}
