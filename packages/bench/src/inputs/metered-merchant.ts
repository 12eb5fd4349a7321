// The merchant of `pnpm bench metered`: keys, terms and store of a server that is started, killed and started again.
import { createPrivateKey, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createMeteredTerms } from "@sotto/local/merchant/metered-terms";
import { createPrepaidKeys } from "@sotto/local/merchant/prepaid-keys";
import { decodeSchedule, meteredValues, scheduledKeys } from "@sotto/prepaid";
import { parseAddress } from "@sotto/protocol";
import { freePort } from "@sotto/server";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { openMerchant } from "@sotto/test-world/merchant";
import type { WorldPlace } from "@sotto/test-world/wallets";
import { type ChildServer, startServer } from "./child-server.ts";
import { RULE } from "./metered-rule.ts";
import type { MeteredServerOrder } from "./metered-server.ts";

/** A key with which the server signs. */
export interface MerchantSecret {
  readonly value: bigint;
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

export interface MeteredMerchant {
  readonly origin: string;
  /** The month in which it was opened. */
  readonly epoch: string;
  /** The keys of the month. */
  readonly secrets: readonly MerchantSecret[];
  /** Total of the payments that it received on chain, base units. */
  received(): Promise<bigint>;
  start(): Promise<MeteredServer>;
}

export interface MeteredServer extends ChildServer {
  /** Value of the tokens that were signed and not spent, base units. */
  outstanding(): Promise<bigint>;
  /** Kills the process, as a power cut does. */
  kill(): Promise<void>;
}

/** @param maxSeconds how long a request may run */
export async function openMeteredMerchant(world: WorldPlace, maxSeconds: number): Promise<MeteredMerchant> {
  const { account, paywall, received } = await openMerchant(world);
  const port = await freePort("127.0.0.1");
  const origin = `http://127.0.0.1:${port}`;
  const place = { chainId: BigInt(world.chainId), pool: parseAddress(world.pool), origin };
  const files = await createPrepaidKeys(account, { ...place, values: meteredValues(RULE) });
  const terms = await createMeteredTerms(account, {
    ...place,
    routes: [{ method: "GET", path: "/metered/*", rule: RULE }],
  });
  const folder = temporaryFolder("bench-metered");
  const order: MeteredServerOrder = {
    port,
    options: { ...paywall, origin, store: `sqlite:${join(folder, "payments.sqlite")}` },
    tokens: { ...files, store: `sqlite:${join(folder, "prepaid.sqlite")}`, guard: join(folder, "guard") },
    credit: { ...terms, maxSeconds },
  };
  const start = async (): Promise<MeteredServer> => {
    const server = await startServer("metered-server.ts", order);
    return {
      ...server,
      async outstanding() {
        server.process.send({});
        const [{ outstanding }] = (await once(server.process, "message")) as [{ outstanding: string }];
        return BigInt(outstanding);
      },
      async kill() {
        server.process.kill("SIGKILL");
        await once(server.process, "exit");
      },
    };
  };
  const scheduled = scheduledKeys(decodeSchedule(files.schedules[0]!.schedule));
  const { epoch } = scheduled[0]!;
  const secrets = scheduled
    .filter((key) => key.epoch === epoch)
    .map(({ key, value }) => {
      const own = files.keys.keys.find((each) => each.epoch === epoch && each.value === String(value))!;
      return { value, keyId: key.id, privateKey: createPrivateKey(own.privateKey) };
    });
  return { origin, epoch, secrets, received, start };
}
