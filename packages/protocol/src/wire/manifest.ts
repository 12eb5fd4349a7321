import { fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { type Fields, fieldsOf, readConstant, readText } from "../fields.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { MAX_FINALITY } from "../local-chains.ts";
import { assertInteger, parseAmount } from "../validate.ts";

/** A contract of a deployment. */
export interface DeployedContract {
  readonly address: Address;
  /** keccak256 of its code on chain. */
  readonly codeHash: string;
}

/** What a pool is made of. */
export const DEPLOYMENT_CONTRACTS = [
  "pool",
  "paymentVerifier",
  "withdrawalVerifier",
  "noteAppendVerifier",
  "noteHasher",
] as const;
export type DeploymentContract = (typeof DEPLOYMENT_CONTRACTS)[number];

/**
 * A deployment: the pool's address, contracts and artifacts. Deployment writes it; service, wallets and resource servers
 * read it. Values that the chain or the compiled-in hashes can confirm are checked against them.
 */
export interface DeploymentManifest {
  readonly version: 1;
  /** Name of the network, for people. */
  readonly network: string;
  /** Set of the keys its verifiers have: `development`, `ceremony/NAME` or `rehearsal/NAME`. */
  readonly set: string;
  readonly chainId: number;
  readonly pool: Address;
  readonly token: Address;
  /** Block after which the pool's events begin. */
  readonly deploymentBlock: number;
  /** Base units of one deposited note, at least; decimal. */
  readonly smallestDeposit: string;
  readonly contracts: Readonly<Record<DeploymentContract, DeployedContract>>;
  /** SHA-256 of each circuit's verification key, as in the set's lock. */
  readonly verificationKeys: Readonly<Record<string, string>>;
  /** Blocks on top of an event before wallets count it; left out: `defaultFinality` of the chain. */
  readonly finality?: number;
}

const NETWORK = /^[a-z][a-z0-9-]{0,39}$/;
const SET = /^(development|(ceremony|rehearsal)\/[a-z][a-z0-9-]{0,39})$/;
const CIRCUIT = /^[a-z][a-z0-9_]{0,63}$/;
const SHA256 = /^[0-9a-f]{64}$/;

function readContract(contracts: Fields, name: DeploymentContract): DeployedContract {
  const contract = fieldsOf(contracts(name), `contracts.${name}`, "DEPLOYMENT_INVALID");
  return {
    address: parseAddress(contract("address"), `contracts.${name}.address`),
    codeHash: bytesToHex(hexToBytes(contract("codeHash"), 32, `contracts.${name}.codeHash`)),
  };
}

function readKeys(value: unknown): Record<string, string> {
  const read = fieldsOf(value, "verificationKeys", "DEPLOYMENT_INVALID");
  const names = Object.keys(value as object);
  if (names.length === 0 || names.length > 64 || !names.every((name) => CIRCUIT.test(name)))
    fail("DEPLOYMENT_INVALID", "verificationKeys must name circuits");
  const hash = (name: string) => readText(read(name), SHA256, `verificationKeys.${name}`, "a SHA-256 in hex");
  return Object.fromEntries(names.map((name) => [name, hash(name)]));
}

const readFinality = (value: unknown): { finality?: number } =>
  value === undefined ? {} : { finality: assertInteger(value, 0, MAX_FINALITY, "finality") };

/**
 * A deployment manifest from its JSON. Fields that are not named are left out.
 * @throws SottoError DEPLOYMENT_INVALID
 */
export function parseDeployment(json: unknown): DeploymentManifest {
  return recode("DEPLOYMENT_INVALID", "the deployment manifest", () => {
    const read = fieldsOf(json, "the deployment manifest", "DEPLOYMENT_INVALID");
    const contracts = fieldsOf(read("contracts"), "contracts", "DEPLOYMENT_INVALID");
    const manifest: DeploymentManifest = {
      version: readConstant(read("version"), 1, "version"),
      network: readText(read("network"), NETWORK, "network", "a name of a to z, 0 to 9 and -"),
      set: readText(read("set"), SET, "set", "development, ceremony/NAME or rehearsal/NAME"),
      chainId: assertInteger(read("chainId"), 1, Number.MAX_SAFE_INTEGER, "chainId"),
      pool: parseAddress(read("pool"), "pool"),
      token: parseAddress(read("token"), "token"),
      deploymentBlock: assertInteger(read("deploymentBlock"), 0, Number.MAX_SAFE_INTEGER, "deploymentBlock"),
      smallestDeposit: String(parseAmount(read("smallestDeposit"), "smallestDeposit")),
      contracts: Object.fromEntries(
        DEPLOYMENT_CONTRACTS.map((name) => [name, readContract(contracts, name)]),
      ) as DeploymentManifest["contracts"],
      verificationKeys: readKeys(read("verificationKeys")),
      ...readFinality(read("finality")),
    };
    if (manifest.contracts.pool.address !== manifest.pool)
      fail("DEPLOYMENT_INVALID", "pool and contracts.pool are two addresses");
    return manifest;
  });
}
