// A wallet in a separate process that funds itself or loads a circuit's files, and can kill itself at a given point.

import type { DeploymentManifest } from "@sotto/protocol";
import { loadArtifacts } from "@sotto/prover";
import { openWallet } from "@sotto/wallet/node";
import { Wallet as Account } from "ethers";

export interface FundingTask {
  readonly deployment: DeploymentManifest;
  readonly words: string;
  readonly node: string;
  readonly service: string;
  readonly folder: string;
  readonly accountKey: string;
  readonly amount: string;
  readonly finality: number;
  readonly until?: "deposited" | "spendable" | undefined;
  /**
   * Stage at which the process dies; "answered": when the service has answered the deposit; "returned": after `fund`
   * returned.
   */
  readonly dieAt?: string | undefined;
}

export interface LoadingTask {
  readonly service: string;
  readonly cache: string;
  /** Downloaded bytes after which the process dies. */
  readonly dieAfter?: number | undefined;
}

export interface FundingReport {
  /** Hash of the deposit's transaction, or the SHA-256 of what was loaded. */
  readonly result: string;
  /** Number of times the account signed, or the byte offset at which the download began. */
  readonly count: number;
}

const die = () => process.kill(process.pid, "SIGKILL");

async function fund(task: FundingTask): Promise<FundingReport> {
  const { deployment, words, node, service, folder, accountKey, amount, finality, until, dieAt } = task;
  const account = new Account(accountKey);
  let count = 0;
  const signer = {
    getAddress: () => account.getAddress(),
    signTypedData: (...typed: Parameters<Account["signTypedData"]>) => {
      count += 1;
      return account.signTypedData(...typed);
    },
  };
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    if (!String(input).endsWith("/deposit")) return real(input, init);
    // Without a `wait` preference, the service immediately answers that the deposit is pending.
    const prompt = { ...init, headers: { ...init?.headers, prefer: "respond-async" } };
    const response = await real(input, dieAt === "settling" ? prompt : init);
    if (dieAt === "answered") die();
    return response;
  };
  const wallet = await openWallet({ deployment, words, nodes: node, service, folder, finality });
  const { transaction } = await wallet.fund({
    amount: BigInt(amount),
    account: signer,
    until,
    onProgress: ({ stage }) => void (stage === dieAt && die()),
  });
  if (dieAt === "returned") die();
  await wallet.close();
  return { result: transaction, count };
}

async function load({ service, cache, dieAfter = Number.POSITIVE_INFINITY }: LoadingTask): Promise<FundingReport> {
  let first: number | undefined;
  const artifacts = await loadArtifacts({
    service,
    cache,
    onProgress: ({ received }) => {
      first ??= received;
      if (received >= dieAfter) die();
    },
  });
  const bytes = await artifacts.bytes("payment", "zkey");
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return { result: Buffer.from(digest).toString("hex"), count: first ?? -1 };
}

process.once("message", async (task: FundingTask | LoadingTask) => {
  const report = await ("cache" in task ? load(task) : fund(task));
  process.send?.(report, () => process.exit(0));
});
process.once("disconnect", () => process.exit(0));
