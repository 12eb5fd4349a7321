import { fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { MAX_FINALITY } from "../local-chains.ts";
import { type Fields, fieldsOf, parseConstant, parseText } from "../object-fields.ts";
import { assertInteger, parseAmount } from "../validate.ts";

/** A contract of a deployment. */
export interface DeployedContract {
  /** 20 bytes, lower-case hex with 0x. */
  readonly address: Address;
  /** keccak256 of its code on chain. */
  readonly codeHash: string;
}

/** The contracts of a deployment. */
export const DEPLOYMENT_CONTRACTS = [
  "pool",
  "paymentVerifier",
  "withdrawalVerifier",
  "noteAppendVerifier",
  "noteHasher",
] as const;
/** The name of a contract of a deployment. */
export type DeploymentContract = (typeof DEPLOYMENT_CONTRACTS)[number];

/**
 * A deployment: the pool's address, contracts and artifacts. The deployment script writes it; the service, wallets and
 * resource servers read it. The readers check it against the chain and the compiled-in hashes wherever these can
 * confirm a value.
 */
export interface DeploymentManifest {
  readonly version: 1;
  /** Name of the network, for people. */
  readonly network: string;
  /** Set of keys to which the verifiers belong: `development`, `ceremony/NAME` or `rehearsal/NAME`. */
  readonly set: string;
  /** EIP-155 id, 1 to 2^53 - 1. */
  readonly chainId: number;
  /** The ShieldedPool; equal to `contracts.pool.address`. */
  readonly pool: Address;
  /** The ERC-20 token of all notes. */
  readonly token: Address;
  /** A block before the pool's deployment: all its events are in later blocks. */
  readonly deploymentBlock: number;
  /** Minimum amount of a deposited note, base units, decimal. */
  readonly smallestDeposit: string;
  /** All contracts of the deployment, with the hashes of their code. */
  readonly contracts: Readonly<Record<DeploymentContract, DeployedContract>>;
  /** SHA-256 of each circuit's verification key, as in the set's lock. */
  readonly verificationKeys: Readonly<Record<string, string>>;
  /** Number of blocks on top of an event before wallets count it. Default: `defaultFinality` of the chain. */
  readonly finality?: number | undefined;
}

const NETWORK = /^[a-z][a-z0-9-]{0,39}$/;
const SET = /^(development|(ceremony|rehearsal)\/[a-z][a-z0-9-]{0,39})$/;
const CIRCUIT = /^[a-z][a-z0-9_]{0,63}$/;
const SHA256 = /^[0-9a-f]{64}$/;

function parseContract(contracts: Fields, name: DeploymentContract): DeployedContract {
  const contract = fieldsOf(contracts(name), `contracts.${name}`, "DEPLOYMENT_INVALID");
  return {
    address: parseAddress(contract("address"), `contracts.${name}.address`),
    codeHash: bytesToHex(hexToBytes(contract("codeHash"), 32, `contracts.${name}.codeHash`)),
  };
}

function parseKeys(value: unknown): Record<string, string> {
  const read = fieldsOf(value, "verificationKeys", "DEPLOYMENT_INVALID");
  const names = Object.keys(value as object);
  if (names.length === 0 || names.length > 64 || !names.every((name) => CIRCUIT.test(name)))
    fail("DEPLOYMENT_INVALID", `verificationKeys must have 1 to 64 fields named after circuits, got ${names.length}`);
  const hash = (name: string) =>
    parseText(read(name), SHA256, `verificationKeys.${name}`, "a SHA-256 as 64 lower-case hex digits");
  return Object.fromEntries(names.map((name) => [name, hash(name)]));
}

/** Parses a deployment manifest. Ignores unknown fields. @throws SottoError DEPLOYMENT_INVALID */
export function parseDeployment(json: unknown): DeploymentManifest {
  return recode("DEPLOYMENT_INVALID", "the deployment manifest", () => {
    const read = fieldsOf(json, "the deployment manifest", "DEPLOYMENT_INVALID");
    const contracts = fieldsOf(read("contracts"), "contracts", "DEPLOYMENT_INVALID");
    const finality = read("finality");
    const manifest: DeploymentManifest = {
      version: parseConstant(read("version"), 1, "version"),
      network: parseText(
        read("network"),
        NETWORK,
        "network",
        "a name of at most 40 characters a to z, 0 to 9 and -, starting with a letter",
      ),
      set: parseText(read("set"), SET, "set", "development, ceremony/NAME or rehearsal/NAME"),
      chainId: assertInteger(read("chainId"), 1, Number.MAX_SAFE_INTEGER, "chainId"),
      pool: parseAddress(read("pool"), "pool"),
      token: parseAddress(read("token"), "token"),
      deploymentBlock: assertInteger(read("deploymentBlock"), 0, Number.MAX_SAFE_INTEGER, "deploymentBlock"),
      smallestDeposit: String(parseAmount(read("smallestDeposit"), "smallestDeposit")),
      contracts: Object.fromEntries(
        DEPLOYMENT_CONTRACTS.map((name) => [name, parseContract(contracts, name)]),
      ) as DeploymentManifest["contracts"],
      verificationKeys: parseKeys(read("verificationKeys")),
      finality: finality === undefined ? undefined : assertInteger(finality, 0, MAX_FINALITY, "finality"),
    };
    if (manifest.contracts.pool.address !== manifest.pool)
      fail("DEPLOYMENT_INVALID", `contracts.pool is ${manifest.contracts.pool.address}, but pool is ${manifest.pool}`);
    return manifest;
  });
}
