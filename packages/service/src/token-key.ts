// node dist/token-key.js [FOLDER]: creates a token key in the folder that SOTTO_TOKEN_KEYS names, and prints its path.
import { endWith, ServerError, withSettingsFile } from "@sotto/server";
import { addKey, SETTINGS } from "@sotto/verifier-service";

const { variable, fallback } = SETTINGS.tokenKeys;

await endWith(async () => {
  const [folder = withSettingsFile(process.env)[variable] || fallback!, ...others] = process.argv.slice(2);
  if (others.length > 0 || folder.startsWith("-"))
    throw new ServerError("INVALID_CONFIG", "usage: npm run token-key [FOLDER]");
  console.log(await addKey(folder));
});
