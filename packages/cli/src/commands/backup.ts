import { existsSync } from "node:fs";
import { shieldedAddressOf, wordsFromSeed } from "@sotto/client";
import { SqliteStore } from "@sotto/client/sqlite";
import { deriveKeys } from "@sotto/protocol";
import type { Command, Context } from "../command.ts";
import { CliError, usage } from "../frame/errors.ts";
import { type Backup, fillStore, recordsOf, seal, unseal } from "../home/backup.ts";
import { parseConfig, readConfig, writeConfig } from "../home/config.ts";
import { readKeyFile, writePrivate } from "../home/files.ts";
import type { Home } from "../home/home.ts";
import { lock } from "../home/lock.ts";
import { readPassphrase } from "../home/passphrase.ts";
import { parseSeed, readSeed, writeSeed } from "../home/seed.ts";
import { viewingKeyText } from "../home/viewing-key.ts";
import { readJson } from "./receipt.ts";

const MAX_INPUT_BYTES = 64 * 1024 * 1024;

export const exportCommand: Command = {
  name: "export",
  summary: "Makes an encrypted backup; or shows the words, or a viewing key.",
  positionals: [],
  options: {
    output: { value: "FILE", help: "the backup, mode 0600; with --viewing-key, the key", short: "o" },
    words: { help: "the 24 words, in place of a backup; needs --show-secret" },
    "viewing-key": { help: "the viewing key, which reads all that ever comes in and spends nothing" },
    "show-secret": { help: "says that a secret may be written to standard output" },
  },
  details: [
    "Words and chain bring back every note. The backup adds what they do not: payments under way, what was paid for what",
    "(and so receipts), purchases that wait for an answer, phone numbers trusted, refunds made. It is encrypted with a",
    "passphrase (SOTTO_PASSPHRASE, or asked for) by scrypt and AES-256-GCM. Use one copy at a time.",
  ],
  async run(context) {
    const { args, home, environment } = context;
    const [words, viewing, show] = [args.flag("words"), args.flag("viewing-key"), args.flag("show-secret")];
    if (words && viewing) throw usage("either --words or --viewing-key");
    const config = readConfig(home);
    const seed = readSeed(home, environment);
    const file = args.text("output");
    if (words) {
      if (file !== undefined) throw usage("--words are shown, not written: --output is for the backup");
      expectShown(show);
      return { json: { words: wordsFromSeed(seed) }, text: [wordsFromSeed(seed)] };
    }
    if (viewing) {
      const keys = deriveKeys(seed, config);
      const { viewingKey } = keys;
      const text = viewingKeyText({ viewingKey, shieldedAddress: keys.shieldedAddress() }, config);
      if (file === undefined) expectShown(show);
      else writePrivate(file, `${text}\n`, false);
      return file === undefined
        ? { json: JSON.parse(text), text: [text] }
        : { json: { file }, text: [`viewing key written to ${file}`] };
    }
    if (file === undefined) throw usage("--output is missing: where the backup goes");
    if (existsSync(file)) throw new CliError("FILE_EXISTS", `${file} is there already and is not replaced`);
    const passphrase = await readPassphrase(context, true);
    const records = await readRecords(context);
    const backup: Backup = {
      words: wordsFromSeed(seed),
      config: { ...config, chainId: String(config.chainId) },
      records,
    };
    writePrivate(file, await seal(backup, passphrase), false);
    return {
      json: { file, records: records.length },
      text: [`backup of ${records.length} records written to ${file}`],
    };
  },
};

function expectShown(show: boolean): void {
  if (show) return;
  throw new CliError("NOT_CONFIRMED", "this shows a secret on standard output: --show-secret says that it may");
}

async function readRecords({ home }: Context): Promise<Backup["records"]> {
  if (!existsSync(home.store)) return [];
  const free = lock(home.lock);
  const store = new SqliteStore(home.store);
  try {
    return await recordsOf(store);
  } finally {
    await store.close();
    free();
  }
}

export const restore: Command = {
  name: "restore",
  summary: "Makes a wallet from a backup of sotto export.",
  positionals: ["FILE"],
  options: {},
  details: [
    "FILE is - for standard input. From words alone, sotto init --words does it. Nothing that is there is replaced. The",
    "wallet that the backup was made of must not be used any more: the two would choose the same notes.",
  ],
  async run(context) {
    const { args, home } = context;
    expectNone(home, existsSync(home.config));
    const value = await readJson(context, args.positional(0, "FILE"), MAX_INPUT_BYTES);
    const { words, config: fields, records } = await unseal(value, await readPassphrase(context, false));
    const config = parseConfig(Object(fields), "the backup");
    const seed = parseSeed(String(words), "the backup");
    home.make();
    const free = lock(home.lock);
    try {
      // Once more: one may have been made while the passphrase was typed.
      const key = readKeyFile(home.key);
      const another = key !== undefined && wordsFromSeed(parseSeed(key, home.key)) !== wordsFromSeed(seed);
      expectNone(home, existsSync(home.config) || another);
      const store = new SqliteStore(home.store);
      await fillStore(store, records).finally(() => store.close());
      if (key === undefined) writeSeed(home, seed);
      // Last: only with a config it is a wallet. What broke off before is begun anew.
      writeConfig(home, config, false);
    } finally {
      free();
    }
    const shieldedAddress = shieldedAddressOf(seed, config);
    return {
      json: { home: home.folder, shieldedAddress, records: records.length },
      text: [`wallet in ${home.folder} with ${records.length} records of the backup`, `address ${shieldedAddress}`],
    };
  },
};

function expectNone({ folder }: Home, some: boolean): void {
  if (some) throw new CliError("WALLET_EXISTS", `there is a wallet in ${folder} already`);
}
