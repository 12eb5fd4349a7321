// The upstream of the settings. Without one, a model of this program answers, for development.
import type { Offered } from "./chat-request.ts";
import { openLocalModel } from "./local-model.ts";
import { upstream } from "./settings.ts";
import type { Upstream } from "./upstream.ts";

/** @throws Error if the settings are incomplete */
export async function openUpstream(): Promise<Upstream & Offered> {
  const { key, limitField } = upstream;
  if (upstream.url === "") {
    if (process.env["NODE_ENV"] === "production") throw new Error("UPSTREAM_URL is missing");
    console.log("UPSTREAM_URL is not set: a model for development repeats what it is asked.");
    return openLocalModel();
  }
  if (!URL.canParse(upstream.url)) throw new Error("UPSTREAM_URL is not a URL such as https://api.example/v1");
  const models = upstream.models
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  if (models.length === 0) throw new Error("UPSTREAM_MODELS is missing: name the models that the prices are for");
  if (limitField !== "max_tokens" && limitField !== "max_completion_tokens")
    throw new Error("UPSTREAM_LIMIT_FIELD must be max_tokens or max_completion_tokens");
  return { url: upstream.url.replace(/\/+$/, ""), key: key === "" ? undefined : key, models, limitField };
}
