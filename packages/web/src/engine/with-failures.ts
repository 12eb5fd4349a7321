import { failureOf } from "../errors.ts";

/** Errors leave a worker as plain objects, because class instances would lose their codes. */
export function withFailures<T extends object>(api: T): T {
  return new Proxy(api, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return async (...values: unknown[]) => {
        try {
          return await method.apply(target, values);
        } catch (error) {
          throw failureOf(error);
        }
      };
    },
  });
}
