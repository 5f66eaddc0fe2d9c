/** Chunked bodies that no two servers read alike, and that nobody may read (RFC 9112 section 7.1). */
export const brokenChunks: readonly string[] = [
  'zz\r\nhello\r\n0\r\n\r\n',
  '\r\nhello\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '+5\r\nhello\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  ' 5\r\nhello\r\n0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '5\nhello\r\n0\r\n\r\n',
  '5\r\nhello\n0\r\n\r\n',
  '5\r\nhello0\r\n\r\n',
  '5\r\nhello!\r\n0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\n',
]
