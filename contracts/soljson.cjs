// The Solidity compiler of npm, in two thirds of its time. Its JavaScript reads WebAssembly's table of functions at each
// of its millions of indirect calls, which takes longer than most of these functions. Here the table is read only once
// for each function.
const { prototype } = WebAssembly.Table;
const { get, set } = prototype;
const known = new WeakMap();

prototype.get = function (index) {
  let functions = known.get(this);
  if (functions === undefined) {
    functions = [];
    known.set(this, functions);
  }
  functions[index] ??= get.call(this, index);
  return functions[index];
};
prototype.set = function (...args) {
  known.delete(this);
  set.apply(this, args);
};

module.exports = require("solc/soljson.js");
