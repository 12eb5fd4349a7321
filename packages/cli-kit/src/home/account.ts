import { allowsDevelopment, isPublicAccount, trimPasted } from "@sotto/protocol";
import { Wallet as Account, type BaseWallet, HDNodeWallet } from "ethers";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { readKeyFile } from "./files.ts";

/** The second account of Hardhat's public mnemonic, which has ETH on a local chain. */
const LOCAL_MNEMONIC = "test test test test test test test test test test test junk";
const LOCAL_PATH = "m/44'/60'/0'/0/1";

/** Options of the commands that need an Ethereum account. */
export const ACCOUNT_OPTIONS = {
  keystore: {
    value: "FILE",
    help: "the account: a keystore file (password in SOTTO_ACCOUNT_PASSWORD) or a file with a private key, mode 0600; default: SOTTO_ACCOUNT_KEY",
  },
} as const;

const noKey = (where: string) =>
  new CliError("KEY_MISSING", `${where} has no private key: expected 0x and 64 hex digits`);

function fromKey(text: string, where: string): BaseWallet {
  const key = trimPasted(text);
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw noKey(where);
  try {
    return new Account(key);
  } catch {
    // ethers' own message contains the key.
    throw noKey(where);
  }
}

/**
 * A command's Ethereum account: from --keystore, else from SOTTO_ACCOUNT_KEY, else a public test account, which is allowed
 * on a local chain only, and not if NODE_ENV is production.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE, ACCOUNT_PUBLIC
 */
export async function readAccount(
  keystore: string | undefined,
  environment: Environment,
  chainId: bigint,
): Promise<BaseWallet> {
  const isLocal = allowsDevelopment(environment, chainId);
  const account = await givenAccount(keystore, environment);
  if (account === undefined && isLocal) return HDNodeWallet.fromPhrase(LOCAL_MNEMONIC, undefined, LOCAL_PATH);
  if (account === undefined)
    throw new CliError(
      "KEY_MISSING",
      "an Ethereum account is missing: set it with --keystore FILE or SOTTO_ACCOUNT_KEY",
    );
  if (isPublicAccount(account.address) && !isLocal)
    throw new CliError(
      "ACCOUNT_PUBLIC",
      `${account.address.toLowerCase()} is a public account of Hardhat and Anvil: anyone can take what it receives; ` +
        "choose an account of your own with --keystore FILE or SOTTO_ACCOUNT_KEY",
    );
  return account;
}

async function givenAccount(keystore: string | undefined, environment: Environment): Promise<BaseWallet | undefined> {
  if (keystore !== undefined) {
    const text = readKeyFile(keystore);
    if (text === undefined) throw new CliError("KEY_MISSING", `${keystore} does not exist`);
    if (!text.trimStart().startsWith("{")) return fromKey(text, keystore);
    const password = environment["SOTTO_ACCOUNT_PASSWORD"];
    if (password === undefined)
      throw new CliError("KEY_MISSING", "the keystore file needs its password in SOTTO_ACCOUNT_PASSWORD");
    try {
      return new Account((await Account.fromEncryptedJson(text, password)).privateKey);
    } catch {
      throw new CliError(
        "KEY_MISSING",
        `cannot open ${keystore}: it is not a keystore file, or SOTTO_ACCOUNT_PASSWORD is wrong`,
      );
    }
  }
  const key = environment["SOTTO_ACCOUNT_KEY"];
  if (key !== undefined && key !== "") return fromKey(key, "SOTTO_ACCOUNT_KEY");
  return undefined;
}
