const CRC32_POLYNOMIAL = 0xedb88320;
const CRC16_POLYNOMIAL = 0x1021;

const crc32Table = Int32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) {
    value = (value & 1) === 1 ? CRC32_POLYNOMIAL ^ (value >>> 1) : value >>> 1;
  }
  return value;
});

/** The CRC-32 of ASCII text. It catches typing errors, not attackers: anyone can compute it. */
export function crc32(text: string): number {
  let value = -1;
  for (let i = 0; i < text.length; i++) {
    value = (crc32Table[(value ^ text.charCodeAt(i)) & 255] ?? 0) ^ (value >>> 8);
  }
  return (value ^ -1) >>> 0;
}

/** CRC-16/XMODEM of ASCII text, which a Redis Cluster uses to find the slot of a key. */
export function crc16(text: string): number {
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    value ^= text.charCodeAt(i) << 8;
    for (let bit = 0; bit < 8; bit++) {
      value = (value & 0x8000) === 0 ? value << 1 : (value << 1) ^ CRC16_POLYNOMIAL;
    }
    value &= 0xffff;
  }
  return value;
}
