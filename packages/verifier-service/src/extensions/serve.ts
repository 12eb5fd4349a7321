import { type App, clientIds, createLog } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { migrationsOf } from "../config/extensions.ts";
import { EngineError } from "../engine/errors.ts";
import { createApp } from "../http/app.ts";
import { createMetrics } from "../ops/metrics.ts";
import { openStore } from "../store/index.ts";
import { openExtensions } from "./open.ts";

/** Extensions that are served without the service. */
export interface ServedExtensions {
  /** Their routes, without the base path. */
  readonly app: App;
  /** The metrics, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Deletes old data, as the service does every minute. */
  sweep(): Promise<void>;
  /** Closes the extensions and the database. */
  close(): Promise<void>;
}

/**
 * Serves the extensions of a configuration with the database and the limits of the service, but without a chain, a relayer and
 * payments: for their tests.
 * @throws ServiceError EXTENSION_INVALID, EXTENSION_FAILED; the extensions' own errors
 */
export async function serveExtensions(config: Config, clock: () => number = Date.now): Promise<ServedExtensions> {
  const log = createLog("silent");
  const store = await openStore({ url: config.store, extensions: migrationsOf(config.extensions), clock });
  const closing: (() => Promise<void> | void)[] = [() => store.close()];
  const close = async () => {
    for (let action = closing.pop(); action !== undefined; action = closing.pop()) await action();
  };
  try {
    const metrics = createMetrics();
    const clientId = clientIds(config.clientSecret);
    const extensions = await openExtensions(config, {
      store,
      metrics: metrics.registry,
      log,
      clock,
      clientOf: ({ ip }) => clientId(ip),
      proofs: { verify: () => Promise.reject(new EngineError("ENGINE_CLOSED", "no payments are served")) },
      closeLater: (action) => void closing.push(action),
    });
    const app = await createApp({ config, log, metrics, routes: (root) => extensions.routes(root) });
    closing.push(() => app.close());
    extensions.start(config.port);
    return { app, metrics: () => metrics.registry.metrics(), sweep: () => store.sweep(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
