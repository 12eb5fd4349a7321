// The files that run the service in production: compose.yaml and what it mounts, and the unit of systemd.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXTENSIONS } from "@sotto/service";
import { settingsTable } from "@sotto/verifier-service";
import { parse } from "yaml";
import { ROOT } from "./page.ts";

export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly args: Readonly<Record<string, string>> };
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly ulimits?: { readonly nofile: number };
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: {
    readonly inside: {
      readonly ipam: { readonly config: readonly { readonly subnet: string; readonly ip_range: string }[] };
    };
    readonly database: { readonly internal: boolean };
  };
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** The default of each setting by name; empty if it has none. */
export const DEFAULTS: ReadonlyMap<string, string> = new Map(
  [...settingsTable(EXTENSIONS).matchAll(/^\| `(SOTTO_[A-Z_]+)` \| (?:`(.*?)`)? \|/gm)].map(
    ([, name, fallback = ""]) => [name!, fallback] as const,
  ),
);

export const COMPOSE_PATH = join(ROOT, "compose.yaml");
export const composeText = (): string => readFileSync(COMPOSE_PATH, "utf8");
/** Compose merges `<<` too. */
export const readCompose = (): ComposeFile => parse(composeText(), { merge: true, strict: true }) as ComposeFile;

export const UNIT_PATH = join(ROOT, "packages", "service", "systemd", "sotto.service");

/** The lines `NAME=VALUE` of a unit, in their order. */
export const readUnit = (): [name: string, value: string][] =>
  readFileSync(UNIT_PATH, "utf8")
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name, value.join("=")];
    });
