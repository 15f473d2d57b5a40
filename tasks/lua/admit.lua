#!lua flags=allow-oom
-- Offer what there is room for.   ARGV: offer_ms, reserve_ms.   Answers: ok {offers}.
return reply('ok', { offers = admit(now_ms(), tonumber(ARGV[1]), tonumber(ARGV[2])) })
