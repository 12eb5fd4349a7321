import { existsSync } from "node:fs";
import { shieldedAddressOf, wordsFromSeed } from "@sotto/wallet";
import { lockFile } from "@sotto/wallet/node";
import { SqliteStore } from "@sotto/wallet/sqlite";
import type { Command, Context } from "../command.ts";
import { CliError, usage } from "../frame/errors.ts";
import { type Backup, fillStore, recordsOf, seal, unseal } from "../home/backup.ts";
import { configFields, parseConfig, readConfig, writeConfig } from "../home/config.ts";
import { readKeyFile, writePrivate } from "../home/files.ts";
import type { Home } from "../home/home.ts";
import { readPassphrase } from "../home/passphrase.ts";
import { parseSeed, readSeed, writeSeed } from "../home/seed.ts";
import { readJson } from "./receipt.ts";

const MAX_BACKUP_BYTES = 64 * 1024 * 1024;

export const exportCommand: Command = {
  name: "export",
  summary: "Writes an encrypted backup, or shows the words.",
  positionals: [],
  options: {
    output: { value: "FILE", help: "where to write the backup (mode 0600)", short: "o" },
    words: { help: "show the 24 words instead; needs --show-secret" },
    "show-secret": { help: "allow a secret on standard output" },
  },
  details: [
    "The 24 words and the chain restore every note. The backup also has what they cannot restore: payments in flight,",
    "what each payment was for (receipts need it), open purchases, trusted phone numbers and refunds. It is encrypted",
    "with a passphrase (SOTTO_PASSPHRASE, or asked for) by scrypt and AES-256-GCM. Use only one copy at a time.",
  ],
  async run(context) {
    const { args, home, environment } = context;
    const config = readConfig(home);
    const seed = readSeed(home, environment);
    const file = args.text("output");
    if (args.flag("words")) {
      if (file !== undefined) throw usage("--words writes to standard output only: remove --output");
      assertAllowed(args.flag("show-secret"));
      return { json: { words: wordsFromSeed(seed) }, text: [wordsFromSeed(seed)] };
    }
    if (file === undefined) throw usage("--output FILE is missing: where to write the backup");
    if (existsSync(file)) throw new CliError("FILE_EXISTS", `${file} already exists; choose another name`);
    const passphrase = await readPassphrase(context, true);
    const records = await readRecords(context);
    const backup: Backup = {
      words: wordsFromSeed(seed),
      config: configFields(config),
      records,
    };
    writePrivate(file, await seal(backup, passphrase), false);
    return {
      json: { file, records: records.length },
      text: [`backup of ${records.length} records written to ${file}`],
    };
  },
};

function assertAllowed(show: boolean): void {
  if (show) return;
  throw new CliError("NOT_CONFIRMED", "this writes a secret to standard output: allow it with --show-secret");
}

async function readRecords({ home }: Context): Promise<Backup["records"]> {
  if (!existsSync(home.store)) return [];
  const release = lockFile(home.lock);
  const store = new SqliteStore(home.store);
  try {
    return await recordsOf(store);
  } finally {
    await store.close();
    release();
  }
}

export const restore: Command = {
  name: "restore",
  summary: "Restores a wallet from a backup of `sotto export`.",
  positionals: ["FILE"],
  options: {},
  details: [
    "FILE is - for standard input. To restore from the 24 words alone, use `sotto init --words`. An existing wallet is",
    "never replaced. Stop using the wallet that was backed up: two copies would choose the same notes.",
  ],
  async run(context) {
    const { args, home } = context;
    assertNone(home, existsSync(home.config));
    const value = await readJson(context, args.positional(0, "FILE"), MAX_BACKUP_BYTES);
    const { words, config: fields, records } = await unseal(value, await readPassphrase(context, false));
    const config = parseConfig(Object(fields), "the backup");
    const seed = parseSeed(String(words), "the backup");
    home.make();
    const release = lockFile(home.lock);
    try {
      // Check again: another process may have created a wallet while the user typed the passphrase.
      const key = readKeyFile(home.key);
      const another = key !== undefined && wordsFromSeed(parseSeed(key, home.key)) !== wordsFromSeed(seed);
      assertNone(home, existsSync(home.config) || another);
      const store = new SqliteStore(home.store);
      await fillStore(store, records).finally(() => store.close());
      if (key === undefined) writeSeed(home, seed);
      // The config is written last: until it exists, an interrupted restore can be repeated.
      writeConfig(home, config, false);
    } finally {
      release();
    }
    const shieldedAddress = shieldedAddressOf(seed, config);
    return {
      json: { home: home.folder, shieldedAddress, records: records.length },
      text: [`restored the wallet in ${home.folder} with ${records.length} records`, `address ${shieldedAddress}`],
    };
  },
};

function assertNone({ folder }: Home, some: boolean): void {
  if (some)
    throw new CliError("WALLET_EXISTS", `there is already a wallet in ${folder}; choose another folder with --home`);
}
