// A browser that runs in a POSIX locale calls its language "en-US@posix" or "C", which Intl rejects. uPlot passes it to Intl
// when it is loaded, so this module must be imported before uPlot.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US", configurable: true });
}
