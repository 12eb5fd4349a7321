import { type App, type AppOptions, createApp as createServerApp } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { routeErrors } from "../config/extensions.ts";
import { ServiceError } from "../errors.ts";
import { isUnavailable } from "../store/index.ts";
import { openApiOptions } from "./openapi.ts";

export type ServiceAppOptions = Pick<AppOptions, "log" | "metrics" | "routes" | "shared"> & { readonly config: Config };

/** Converts errors of database drivers. */
export const translateError = (error: unknown): ServiceError | undefined =>
  isUnavailable(error)
    ? new ServiceError("STORE_UNAVAILABLE", "the service's database is unavailable; try again", {}, { cause: error })
    : undefined;

/** Creates the HTTP server with everything that all routes share. */
export function createApp(options: ServiceAppOptions): Promise<App> {
  const { config } = options;
  const extensions = config.extensions.map(({ extension }) => extension);
  return createServerApp({
    ...options,
    errors: routeErrors(extensions),
    translate: translateError,
    openapi: openApiOptions(config, extensions),
    cors: { allow: [...extensions.flatMap(({ headers }) => headers ?? []), "prefer"], expose: ["preference-applied"] },
  });
}
