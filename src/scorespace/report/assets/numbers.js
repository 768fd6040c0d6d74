// Formats numbers as Python does, so that report, terminal and JSON agree.

const TINY = 1e-12; // smaller values count as zero
const WIDEST = 100; // maximum digits of toFixed, more than a double has

// Exact decimals; ties round to even as in Python, while toFixed rounds up.
function fixed(value, places) {
  const text = value.toFixed(places);
  const tail = Math.abs(value).toFixed(WIDEST).split(".")[1].slice(places);
  const tie = tail[0] === "5" && !/[1-9]/.test(tail.slice(1));
  if (!tie || Number(text.at(-1)) % 2 === 0) return text;
  const step = 10 ** -places;
  return (value > 0 ? Number(text) - step : Number(text) + step).toFixed(places);
}

function decimals(value, places = 3) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = fixed(value, places);
  return Number(text) ? inThrees(text) : (0).toFixed(places);
}

function inThrees(text) {
  const [whole, rest] = text.split(".");
  const parts = whole.replace(/\B(?=(\d{3})+$)/g, " ").replace("-", "−");
  return rest ? `${parts}.${rest}` : parts;
}

const grouped = (value) => inThrees(fixed(value, 2).replace(/\.?0+$/, ""));

function general(value, digits = 4) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent >= -4 && exponent < digits) return bare(value.toFixed(Math.max(0, digits - 1 - exponent)));
  return `${bare(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function percent(share) {
  if (share > 0 && share < 0.005) return "<1 %";
  return share >= 0.995 && share < 1 ? ">99 %" : `${fixed(100 * share, 0)} %`;
}

const perThousand = (number) => decimals(number, number >= 10 || number === 0 ? 0 : 1);

// Number of decimals by magnitude, as `digits` in Python.
function digits(value) {
  const size = Math.abs(value);
  if (size > 1e-12 && size < 0.01) return decimals(value, 1 - Math.floor(Math.log10(size)));
  return decimals(value, size >= 1000 ? 0 : size >= 10 ? 1 : 3);
}

// A value without an interval, with decimals by magnitude.
function valueText(value) {
  const size = Math.abs(value);
  const places = size >= 1000 ? 0 : size >= 10 ? 1 : size > TINY && size < 0.01 ? 1 - Math.floor(Math.log10(size)) : 3;
  return decimals(value, places);
}

// Fills the placeholders {} of a sentence in order; values are not searched for placeholders.
const filled = (template, ...values) => template.split("{}").map((part, k) => part + (values[k] ?? "")).join("");

// A measure and its interval, with the number of decimals from Python.
function estimate(value, low, high, places) {
  const text = decimals(value, places);
  return Number.isNaN(low) || Number.isNaN(high) ? [text, ""] : [text, ` [${decimals(low, places)}, ${decimals(high, places)}]`];
}
