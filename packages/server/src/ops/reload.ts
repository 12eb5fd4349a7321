import { isDeepStrictEqual } from "node:util";
import { Gauge, type Registry } from "prom-client";
import type { SettingTable } from "../config/setting.ts";
import { codeOf } from "../errors.ts";
import type { ServiceLog } from "./log.ts";

/** The settings that differ from the running ones. */
export interface SettingChanges {
  /** Variables that a running program applies. */
  readonly live: readonly string[];
  /** Variables whose new value needs a restart. */
  readonly fixed: readonly string[];
}

/** Compares the values of settings, by their names in the table. */
export function settingChanges(
  table: SettingTable,
  running: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): SettingChanges {
  const changed = Object.entries(table).filter(([name]) => !isDeepStrictEqual(running[name], next[name]));
  const variables = (live: boolean) =>
    changed.filter(([, setting]) => setting.live === live).map(([, setting]) => setting.variable);
  return { live: variables(true), fixed: variables(false) };
}

/** The values of the settings that a running program applies. */
export const liveValues = <T extends object>(table: SettingTable, values: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, { live }]) =>
      live && name in values ? [[name, values[name as keyof T]]] : [],
    ),
  ) as Partial<T>;

/** New settings that were checked and can be applied. */
export interface PreparedReload extends SettingChanges {
  /** Applies them all. It must not throw or wait: nothing may be applied in part. */
  apply(): void;
}

/** What a reload needs of its program. */
export interface ReloadParts {
  readonly log: ServiceLog;
  /** Shows whether the last reload succeeded, and when. */
  readonly metrics: Registry;
  /** Now, ms. */
  readonly clock: () => number;
}

/** Reads the settings of a running program again, one reload after the other. */
export class Reloads {
  readonly #log: ServiceLog;
  readonly #clock: () => number;
  readonly #success: Gauge;
  readonly #time: Gauge;
  readonly #pending: Gauge;
  #attempts = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ log, metrics, clock }: ReloadParts) {
    this.#log = log;
    this.#clock = clock;
    const registers = [metrics];
    this.#success = new Gauge({
      name: "sotto_config_reload_success",
      help: "1 if the settings in use are those that were read last, 0 if the last reload was refused",
      registers,
    });
    this.#time = new Gauge({
      name: "sotto_config_reload_success_timestamp_seconds",
      help: "when the settings in use were read, Unix time",
      registers,
    });
    this.#pending = new Gauge({
      name: "sotto_config_restart_needed",
      help: "settings that have a new value and need a restart",
      registers,
    });
    this.#success.set(1);
    this.#time.set(clock() / 1000);
    this.#pending.set(0);
  }

  /**
   * Reads and checks the settings, and applies all of them, or none if one is wrong. It logs and counts the result.
   * @param prepare reads and checks; its error refuses the reload
   * @returns whether they were applied
   */
  reload(prepare: () => Promise<PreparedReload>): Promise<boolean> {
    const next = this.#last.then(() => this.#reload(prepare));
    this.#last = next;
    return next;
  }

  async #reload(prepare: () => Promise<PreparedReload>): Promise<boolean> {
    this.#attempts += 1;
    // Otherwise the same fault would be logged once a minute only, and the operator tries again at once.
    const attempt = this.#attempts;
    try {
      const { live, fixed, apply } = await prepare();
      apply();
      this.#success.set(1);
      this.#time.set(this.#clock() / 1000);
      this.#pending.set(fixed.length);
      this.#log.info({ attempt, changed: live }, "settings were reloaded");
      if (fixed.length > 0)
        this.#log.warn({ attempt, code: "RESTART_NEEDED", settings: fixed }, "these settings need a restart");
      return true;
    } catch (error) {
      this.#success.set(0);
      this.#log.error({ attempt, code: codeOf(error), err: error }, "settings were not reloaded; those in use stay");
      return false;
    }
  }
}
