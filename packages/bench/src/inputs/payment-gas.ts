import { measureGas } from "@sotto/test-pool/hardhat/gas";

/** Leaves that one payment queues; one append moves up to 64. */
const LEAVES_PER_PAYMENT = 2;

/** Gas of a payment that is settled alone, with its part of an append of 64 leaves. */
export async function gasOfPayment(): Promise<number> {
  const gas = await measureGas();
  return gas["settle.1"].gas + (gas["append.64"].gas * LEAVES_PER_PAYMENT) / 64;
}
