import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import { Wallet as Account, type BaseWallet, HDNodeWallet } from "ethers";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import { readKeyFile } from "./files.ts";

/** The second account of Hardhat's public mnemonic: on a local chain it has ETH, anywhere else nothing. */
const LOCAL_MNEMONIC = "test test test test test test test test test test test junk";
const LOCAL_PATH = "m/44'/60'/0'/0/1";

/** Options of the commands that need an Ethereum account. */
export const ACCOUNT_OPTIONS = {
  keystore: {
    value: "FILE",
    help: "the account, as an encrypted keystore file (SOTTO_ACCOUNT_PASSWORD) or 0x key, mode 0600; else SOTTO_ACCOUNT_KEY",
  },
} as const;

const noKey = (where: string) =>
  new CliError("KEY_MISSING", `${where} holds no account: expected a private key of 32 bytes as hex with 0x`);

function fromKey(text: string, where: string): BaseWallet {
  const key = text.trim();
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw noKey(where);
  try {
    return new Account(key);
  } catch {
    // ethers says what it was given.
    throw noKey(where);
  }
}

/**
 * The Ethereum account of a command: that of --keystore, of SOTTO_ACCOUNT_KEY, or on a local chain a public test account.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE
 */
export async function readAccount(
  keystore: string | undefined,
  environment: Environment,
  chainId: bigint,
): Promise<BaseWallet> {
  if (keystore !== undefined) {
    const text = readKeyFile(keystore);
    if (text === undefined) throw new CliError("KEY_MISSING", `there is no file ${keystore}`);
    if (!text.trimStart().startsWith("{")) return fromKey(text, keystore);
    const password = environment["SOTTO_ACCOUNT_PASSWORD"];
    if (password === undefined) throw new CliError("KEY_MISSING", "SOTTO_ACCOUNT_PASSWORD opens the keystore file");
    try {
      return new Account((await Account.fromEncryptedJson(text, password)).privateKey);
    } catch {
      throw new CliError("KEY_MISSING", `${keystore} is no keystore file of this password`);
    }
  }
  const key = environment["SOTTO_ACCOUNT_KEY"];
  if (key !== undefined && key !== "") return fromKey(key, "SOTTO_ACCOUNT_KEY");
  if (LOCAL_CHAIN_IDS.includes(chainId)) return HDNodeWallet.fromPhrase(LOCAL_MNEMONIC, undefined, LOCAL_PATH);
  throw new CliError("KEY_MISSING", "this needs an account: --keystore FILE, or SOTTO_ACCOUNT_KEY");
}
