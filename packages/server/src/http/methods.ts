import { ServerError } from "../errors.ts";
import type { App } from "./types.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/**
 * Answers 405 with Allow, instead of 404, if a path has routes for other methods only.
 * @returns a function to call once all routes are registered
 */
export function watchMethods(app: App): () => void {
  const served = new Map<string, Set<string>>();
  let complete = false;
  app.addHook("onRoute", ({ url, method }) => {
    if (complete || url.includes("*")) return;
    const methods = served.get(url) ?? new Set<string>();
    for (const name of [method].flat()) methods.add(name.toUpperCase());
    served.set(url, methods);
  });
  return () => {
    complete = true;
    for (const [url, methods] of served) {
      const others = METHODS.filter((method) => !methods.has(method));
      const allow = METHODS.filter((method) => methods.has(method)).join(", ");
      app.route({
        url,
        method: others,
        exposeHeadRoute: false,
        schema: { hide: true },
        // A hook, because it runs before the body is read.
        onRequest: async (_request, reply) => {
          reply.header("allow", allow);
          throw new ServerError("METHOD_NOT_ALLOWED", `this path allows ${allow}`);
        },
        handler: async () => undefined,
      });
    }
  };
}
