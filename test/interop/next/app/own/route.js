export const GET = () => new Response('own')
