// Keys of prepaid tokens for a merchant of this checkout, whose account is at hand. Merchants use `sotto prepaid keys`.
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import {
  encodePrepaidKeyFile,
  encodeSignedSchedule,
  epochOf,
  laterEpoch,
  PREPAID_EXPONENT,
  PREPAID_KEY_BYTES,
  type PrepaidKey,
  type PrepaidSchedule,
  prepaidKey,
  scheduleTypedData,
  type WirePrepaidKeyFile,
  type WireSignedSchedule,
} from "@sotto/protocol/prepaid";
import type { HDNodeWallet, Wallet } from "ethers";

const generateRsa = promisify(generateKeyPair);

async function newKey(): Promise<{ privateKey: string; key: PrepaidKey }> {
  const options = { modulusLength: 8 * PREPAID_KEY_BYTES, publicExponent: PREPAID_EXPONENT };
  const { privateKey, publicKey } = await generateRsa("rsa", options);
  const { n = "" } = publicKey.export({ format: "jwk" });
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    key: prepaidKey(BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`)),
  };
}

/** What a resource server's option `prepaid` needs. */
export interface PrepaidFiles {
  readonly keys: WirePrepaidKeyFile;
  readonly schedules: readonly WireSignedSchedule[];
}

/** Generates the keys of this month and the next, and signs their schedule. */
export async function createPrepaidKeys(
  account: HDNodeWallet | Wallet,
  terms: Pick<PrepaidSchedule, "chainId" | "pool" | "origin" | "values">,
): Promise<PrepaidFiles> {
  const firstEpoch = epochOf(Date.now());
  const { origin, values } = terms;
  const cells = [0, 1].flatMap((months) => values.map((value) => ({ epoch: laterEpoch(firstEpoch, months), value })));
  const made = await Promise.all(cells.map(async (cell) => ({ ...cell, ...(await newKey()) })));
  const rows = [0, 1].map((row) => made.slice(row * values.length, (row + 1) * values.length).map(({ key }) => key));
  const wallet = account.address.toLowerCase() as PrepaidSchedule["wallet"];
  const schedule: PrepaidSchedule = { ...terms, wallet, firstEpoch, keys: rows };
  const { domain, types, message } = scheduleTypedData(schedule);
  const signature = await account.signTypedData(domain, types, message);
  const keys = made.map(({ epoch, value, privateKey }) => ({ epoch, value, privateKey }));
  return { keys: encodePrepaidKeyFile({ origin, keys }), schedules: [encodeSignedSchedule({ schedule, signature })] };
}
