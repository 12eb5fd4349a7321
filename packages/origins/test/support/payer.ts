// A payer whose wallet follows a curator. Payments and merges have made-up proofs; origins have real ones.
import { verifyOrigin } from "@sotto/prover/origin";
import { POOL } from "@sotto/test-chain/pool";
import { MemoryStore, type Store, type Wallet, type WalletOptions } from "@sotto/wallet";
import { OracleProver } from "../../../wallet/test/support/oracle-prover.ts";
import { URL as RESOURCE, World } from "../../../wallet/test/support/world.ts";
import { Origins, type OriginsOptions } from "../../src/wallet.ts";
import { realProver, verifier } from "./artifacts.ts";
import { MemoryCurator, type MemoryCuratorOptions } from "./memory-curator.ts";

/** Proves origins, and makes up the proofs of payments. */
class OriginProver extends OracleProver {
  override async prove(...[circuit, input]: Parameters<OracleProver["prove"]>) {
    if (circuit !== "origin") return super.prove(circuit, input);
    this.asked.push(circuit);
    await this.before(circuit);
    return realProver.prove(circuit, input);
  }
}

/** Where the curator's files are. */
export const CURATOR = "https://curator.example/clean";
export const MIRROR = "https://mirror.example/clean";

/** A pool, a curator and wallets that follow it. */
export class Payers {
  readonly world: World;
  readonly prover = new OriginProver();
  readonly curator: MemoryCurator;
  /** Answers requests for files by their base URL; a test can put others in their place. */
  readonly servers: Map<string, typeof fetch>;
  /** Requests in order: method and URL. */
  readonly asked: string[] = [];

  /** @param changes the pool's address, and those of its curator */
  constructor({ pool = POOL, ...curator }: Partial<MemoryCuratorOptions> = {}) {
    this.world = new World(pool);
    this.curator = this.createCurator(curator);
    this.servers = new Map([[CURATOR, this.curator.fetch(CURATOR)]]);
  }

  createCurator(changes: Partial<MemoryCuratorOptions> = {}): MemoryCurator {
    const { chain, pool } = this.world;
    return new MemoryCurator({
      chain,
      pool: pool.address,
      verify: (claim) => verifyOrigin(verifier, claim),
      ...changes,
    });
  }

  get set() {
    const { curator, name } = this.curator;
    return { curator: curator as `0x${string}`, name };
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = String(input);
    this.asked.push(`${init?.method ?? "GET"} ${url}`);
    for (const [base, send] of this.servers) if (url.startsWith(`${base}/`)) return send(input, init);
    throw new TypeError(`no server at ${url}`);
  };

  wallet(changes: Partial<WalletOptions> = {}): Promise<Wallet> {
    return this.world.wallet({ prover: this.prover, ...changes });
  }

  /** A wallet with these spendable notes. */
  async funded(amounts: bigint[], changes: Partial<WalletOptions> = {}): Promise<Wallet> {
    return this.world.funded(amounts, { prover: this.prover, ...changes });
  }

  /** Opens the origins of a wallet, and follows the curator unless it does already. */
  async follow(wallet: Wallet, options: OriginsOptions = {}, mirrors: readonly string[] = []): Promise<Origins> {
    const origins = await Origins.open(wallet, { fetch: this.fetch, ...options });
    if (origins.sets().length === 0) await origins.follow({ ...this.set, url: CURATOR, mirrors, minimumCrowd: 0 });
    return origins;
  }

  /** Lets a minute pass. */
  minute(count = 1): void {
    this.world.chain.time += 60 * count;
    this.world.chain.mine();
  }

  /** Pays from a wallet and settles and appends the payment. */
  async pay(payer: Wallet, payee: Wallet, amount: bigint, options: Parameters<Wallet["pay"]>[1] = {}): Promise<void> {
    const request = { recipient: this.world.recipient(payee), amount, resourceUrl: RESOURCE };
    this.world.settle(await payer.pay(request, options));
    await this.world.append();
    this.minute();
    await payer.scan();
  }

  async merge(wallet: Wallet, request: Parameters<Wallet["merge"]>[0] = {}): Promise<void> {
    this.world.withdraw(await wallet.merge(request));
    await this.world.append();
    this.minute();
    await wallet.scan();
  }
}

/** A store that a wallet and a later one share. */
export const disk = (): Store => new MemoryStore();
