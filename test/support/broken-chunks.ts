/** Chunked bodies that servers read differently, and that every server must refuse (RFC 9112 section 7.1). */
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
